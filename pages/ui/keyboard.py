"""What people need who use no mouse: the tools of a chart are one stop of the Tab key, and arrow keys lead from one to the next."""

import streamlit as st


def one_stop_per_chart() -> None:
    """Plotly makes each tool a stop, and has no option for that. The script is the same for everybody."""
    st.html(
        """<script>
        if (!window.toolsAreOneStop) {
            window.toolsAreOneStop = true;
            const tools = (bar) => [...bar.querySelectorAll("button")];
            document.addEventListener("keydown", (event) => {
                if (event.key === "Tab")
                    document.querySelectorAll(".modebar").forEach((bar) => {
                        const stop = tools(bar).find((tool) => tool === document.activeElement) ?? tools(bar)[0];
                        tools(bar).forEach((tool) => (tool.tabIndex = tool === stop ? 0 : -1));
                        bar.ariaLabel = "Tools of the chart";
                    });
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
