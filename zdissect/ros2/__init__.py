"""What ROS 2 does over Zenoh, by rmw_zenoh: nodes, topics, services, actions, and what is wrong with them.

    view = RosView(Contents(definitions))
    for item in dissected(pipeline, frames):
        view.feed(item)
    report = view.report()

What rmw_zenoh puts on the wire is in `rmw_keys`, `tokens`, `qos_words` and `attachment`; sources: docs/ros2.md.
"""
