// Browsers refuse web workers on pages opened from disk. The search asks for one, so here it gets a
// hidden frame instead, which runs the same script and passes the same messages.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inner = frame.contentWindow;
      const page = inner.document;
      this.frame = frame;
      this.postMessage = (data) => waiting.push(data);

      // what the script expects to find around it: inside, `postMessage` speaks to this page
      inner.postMessage = (data) => {
        const message = new MessageEvent("message", { data });
        this.dispatchEvent(message);
        if (typeof this.onmessage === "function") this.onmessage(message);
      };
      inner.importScripts = (...files) =>
        files.reduce(
          (before, file) =>
            before.then(
              () =>
                new Promise((done, failed) => {
                  const script = page.createElement("script");
                  script.src = String(new URL(file, address));
                  script.onload = done;
                  script.onerror = failed;
                  page.body.append(script);
                })
            ),
          Promise.resolve()
        );

      const script = page.createElement("script");
      script.src = String(new URL(address, location.href));
      script.onload = () => {
        const tell = (data) => inner.dispatchEvent(new inner.MessageEvent("message", { data }));
        this.postMessage = tell;
        waiting.splice(0).forEach(tell);
      };
      script.onerror = () => this.dispatchEvent(new Event("error"));
      page.body.append(script);
    }

    terminate() {
      this.frame.remove();
    }
  };
}
