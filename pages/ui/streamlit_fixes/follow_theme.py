"""Charts follow the browser from light to dark: their words have the colour of the page that was drawn, which is drawn again."""

import streamlit as st


def follow() -> None:
    """Streamlit turns the page itself, and a script learns its look only when it runs the next
    time. A hidden button is therefore pressed once the theme has changed. The script is the same
    for everyone."""
    drawn_for = "dark" if st.context.theme.type == "dark" else "light"
    with st.container(key="follow-theme"):
        st.button(f"Draw the charts anew, now {drawn_for}", key="look-again")
        st.html(
            """<style>:has(> .st-key-follow-theme) { display: none; }</style>
            <script>
            if (!window.turnsAreSeen) {
                window.turnsAreSeen = true;
                const ground = () => getComputedStyle(document.querySelector(".stApp") ?? document.body).backgroundColor;
                let drawn = ground();
                const again = (left) => {
                    if (ground() !== drawn) {
                        drawn = ground();
                        document.querySelector(".st-key-look-again button")?.click();
                    } else if (left) setTimeout(again, 100, left - 1); // a look that was chosen by hand stays
                };
                matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => again(50));
            }
            </script>""",
            unsafe_allow_javascript=True,
        )
