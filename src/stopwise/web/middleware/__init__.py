"""What stands before the application, one concern each: see ``create_app`` for the order."""
