"""Small screens need one thing besides the style: the sidebar covers the page there, so it closes
after a choice in it."""

import streamlit as st


def close_sidebar_after_choice() -> None:
    """Streamlit remembers that it was opened, and has no call to close it. The same script for everyone."""
    st.html(
        """<script>
        if (!window.sidebarCloses) {
            window.sidebarCloses = true;
            document.addEventListener("click", (event) => {
                const choice = '[data-testid="stSidebar"] .stPageLink a, [class*="st-key-sample-"] button';
                if (event.target.closest(choice) && window.innerWidth <= 768)
                    document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click();
            });
        }
        </script>""",
        unsafe_allow_javascript=True,
    )
