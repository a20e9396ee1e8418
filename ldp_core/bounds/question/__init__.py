"""One real-valued question, such as a mean or a contrast: the optimum itself, and its proof."""
