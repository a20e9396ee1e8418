"""The app: `streamlit run app.py` imports this file once, as the server starts, and then runs it for every visitor."""

if __name__ == "__main__":
    from pages.ui import streamlit_fixes

    streamlit_fixes.install()  # before anything that takes long: a page left open may upload as soon as this runs

    from pages.ui.main import draw

    draw()
else:
    import streamlit as st
    from starlette.middleware import Middleware

    from pages.ui import access, streamlit_fixes

    streamlit_fixes.install()
    refusing = [] if streamlit_fixes.uploads_stay_in_memory() else [Middleware(access.NoUploads)]
    app = st.App(__file__, middleware=[Middleware(access.KnownHosts), Middleware(access.Outlined), *refusing])
