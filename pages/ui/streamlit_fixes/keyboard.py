"""Support for visitors without a mouse: each chart is one stop of the Tab key, and scrolling text
can be reached at all."""

import streamlit as st


def stops() -> None:
    """Plotly makes a stop of each tool of a chart, and Streamlit none of code and formulas that scroll; neither has an option for that. From tool
    to tool the arrow keys lead. A button that starts or stops a search goes once it is pressed: the focus passes to the one in its
    place, or to the verdict. From one that turns the page it passes to the new heading. The script is the same for everyone."""
    st.html(
        """<script>
        if (!window.stopsAreSet) {
            window.stopsAreSet = true;
            const tools = (bar) => [...bar.querySelectorAll("button")];
            const set = () => {
                for (const bar of document.querySelectorAll(".modebar")) {
                    const stop = tools(bar).find((tool) => tool === document.activeElement) ?? tools(bar)[0];
                    tools(bar).forEach((tool) => (tool.tabIndex = tool === stop ? 0 : -1));
                    bar.ariaLabel = "Tools of the chart";
                }
                for (const text of document.querySelectorAll(".stCode pre, .katex-display"))
                    text.tabIndex = text.scrollHeight > text.clientHeight || text.scrollWidth > text.clientWidth ? 0 : -1;
            };
            const searches = ".st-key-optimise, .st-key-cancel";
            let left = null, search = null, title = "";
            document.addEventListener("focusin", (event) => {
                [left, search, title] = [event.target, event.target.closest(searches), document.querySelector("h1")?.innerText];
            });
            new MutationObserver(() => {
                if (!left || left.isConnected || document.activeElement !== document.body) return;
                const heading = document.querySelector("h1");
                const next = heading && heading.innerText !== title ? heading : search && (
                    document.querySelector(searches.replaceAll(/(cancel|optimise)/g, "$1 button:not(:disabled)"))
                    ?? document.querySelector(".st-key-verdict"));
                if (!next) return;
                if (next.tabIndex < 0) next.tabIndex = -1;
                next.focus();
            }).observe(document.body, { childList: true, subtree: true });
            document.addEventListener("keydown", (event) => {
                if (event.key === "Tab") set();
                const bar = event.target.closest(".modebar"), step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
                if (!bar || !step) return;
                const all = tools(bar);
                all[(all.indexOf(event.target) + step + all.length) % all.length].focus();
                event.preventDefault();
            }, true);
        }
        </script>""",
        unsafe_allow_javascript=True,
    )
