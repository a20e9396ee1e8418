// What browsers need that Streamlit has no option for: once for as long as the page is open, but for the cookie.
if (!window.ldp) {
    window.ldp = {};

    // The browser keeps the number by which it is known again.
    window.ldp.remember = ({name, token, stale, path, seconds}) => {
        const rest = `; Path=${path}; SameSite=Strict` + (location.protocol === "https:" ? "; Secure" : "");
        const found = () => document.cookie.split("; ").find((one) => one.startsWith(name + "="))?.slice(name.length + 1);
        const keep = (value) => { document.cookie = `${name}=${value}; Max-Age=${seconds}${rest}`; };
        if (found() && found() !== token && found() !== stale && !sessionStorage.ldpCameAgain) {
            sessionStorage.ldpCameAgain = "once";
            location.reload(); // another tab, opened at the same moment, was given a number first: one browser has one
            return;
        }
        keep(token);
        clearInterval(window.ldp.renewal);
        window.ldp.renewal = setInterval(() => keep(found() || token), 60000);
    };

    // Streamlit turns light and dark itself, and a script learns its look only when it runs the next time: a hidden button is pressed.
    const ground = () => getComputedStyle(document.querySelector(".stApp") ?? document.body).backgroundColor;
    let drawn = ground();
    const again = (left) => {
        if (ground() !== drawn) {
            drawn = ground();
            document.querySelector(".st-key-look-again button")?.click();
        } else if (left) setTimeout(again, 100, left - 1); // a look that was chosen by hand stays
    };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => again(50));

    // Small screens: the sidebar covers the page there, so it closes after a choice in it.
    document.addEventListener("click", (event) => {
        const choice = '[data-testid="stSidebar"] .stPageLink a, [class*="st-key-sample-"] button';
        if (event.target.closest(choice) && window.innerWidth <= 768)
            document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click();
    });

    // Each chart is one stop of the Tab key, and what scrolls can be reached: Plotly makes a stop of each tool, Streamlit none of code,
    // formulas and tables that scroll. From tool to tool the arrow keys lead. A button that starts or stops a search goes once it is pressed:
    // the focus passes to the one in its place, or to the verdict. From one that turns the page it passes to the new heading.
    const tools = (bar) => [...bar.querySelectorAll("button")];
    const set = () => {
        for (const bar of document.querySelectorAll(".modebar")) {
            const stop = tools(bar).find((tool) => tool === document.activeElement) ?? tools(bar)[0];
            tools(bar).forEach((tool) => (tool.tabIndex = tool === stop ? 0 : -1));
            bar.ariaLabel = "Tools of the chart";
        }
        for (const drawer of document.querySelectorAll("[data-testid=stExpandSidebarButton]")) drawer.ariaLabel = "Pages and design";
        // On a phone the pages of a menu stand in a list of their own, which is no item of the list around it.
        for (const items of document.querySelectorAll("[data-testid=stSidebarNavItems] > div")) {
            items.role = "listitem";
            items.querySelectorAll("li").forEach((item) => (item.role = "none"));
        }
        for (const text of document.querySelectorAll(".stCode pre, .katex-display, .stTable > div")) {
            text.tabIndex = text.scrollHeight > text.clientHeight || text.scrollWidth > text.clientWidth ? 0 : -1;
            [text, text.firstElementChild].forEach((part) => part && sizes.observe(part));
        }
    };
    // Streamlit draws labels as Markdown, and says them as they are written: names are said without what makes their signs safe.
    const said = new WeakMap();
    const say = () => {
        for (const entry of document.querySelectorAll("[aria-label*='\\\\'], [aria-label*='\u2060']")) {
            if (said.get(entry) === entry.ariaLabel) continue; // its name has a backslash
            entry.ariaLabel = entry.ariaLabel.replace(/\\([\\`*_{}[\]()<>#+.!|$~:^&-])/g, "$1").replaceAll("\u2060", "");
            said.set(entry, entry.ariaLabel);
        }
    };
    const searches = ".st-key-optimise, .st-key-cancel";
    let left = null, search = null, title = "";
    document.addEventListener("focusin", (event) => {
        [left, search, title] = [event.target, event.target.closest(searches), document.querySelector("h1")?.innerText];
    });
    let due = null;
    const soon = () => {
        due ??= setTimeout(() => { due = null; set(); say(); }, 100);
    };
    const sizes = new ResizeObserver(soon);
    for (const moved of ["resize", "toggle"]) window.addEventListener(moved, soon, true);
    new MutationObserver(() => {
        soon();
        if (!left || left.isConnected || document.activeElement !== document.body) return;
        const heading = document.querySelector("h1");
        const next = heading && heading.innerText !== title ? heading : search && (
            document.querySelector(searches.replaceAll(/(cancel|optimise)/g, "$1 button:not(:disabled)"))
            ?? document.querySelector(".st-key-verdict"));
        if (!next) return;
        if (next.tabIndex < 0) next.tabIndex = -1;
        next.focus();
    }).observe(document.body, { childList: true, subtree: true, attributeFilter: ["aria-label"] });
    document.addEventListener("keydown", (event) => {
        if (event.key === "Tab") set();
        const bar = event.target.closest(".modebar"), step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!bar || !step) return;
        const all = tools(bar);
        all[(all.indexOf(event.target) + step + all.length) % all.length].focus();
        event.preventDefault();
    }, true);
}
