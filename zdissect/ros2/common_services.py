"""Definitions of services and actions that come with ROS 2, which rosbags, who knows messages, doesn't have.

As in `.srv`, `.action` and `.msg` files, without constants and comments, `;` for a new line. A type hash on the wire
says whether it is this definition that a message was made with: others are never used.
"""

_TEXTS = """
std_srvs/srv/Empty = ---
std_srvs/srv/SetBool = bool data; ---; bool success; string message
std_srvs/srv/Trigger = ---; bool success; string message
example_interfaces/srv/AddTwoInts = int64 a; int64 b; ---; int64 sum
example_interfaces/srv/SetBool = bool data; ---; bool success; string message
example_interfaces/srv/Trigger = ---; bool success; string message
example_interfaces/action/Fibonacci = int32 order; ---; int32[] sequence; ---; int32[] sequence
example_interfaces/msg/Bool = bool data
example_interfaces/msg/Byte = byte data
example_interfaces/msg/Char = char data
example_interfaces/msg/Empty =
example_interfaces/msg/Float32 = float32 data
example_interfaces/msg/Float64 = float64 data
example_interfaces/msg/Int8 = int8 data
example_interfaces/msg/Int16 = int16 data
example_interfaces/msg/Int32 = int32 data
example_interfaces/msg/Int64 = int64 data
example_interfaces/msg/UInt8 = uint8 data
example_interfaces/msg/UInt16 = uint16 data
example_interfaces/msg/UInt32 = uint32 data
example_interfaces/msg/UInt64 = uint64 data
example_interfaces/msg/String = string data
action_tutorials_interfaces/action/Fibonacci = int32 order; ---; int32[] sequence; ---; int32[] partial_sequence
tutorial_interfaces/srv/AddThreeInts = int64 a; int64 b; int64 c; ---; int64 sum
tutorial_interfaces/msg/Num = int64 num
rcl_interfaces/srv/DescribeParameters = string[] names; ---; ParameterDescriptor[] descriptors
rcl_interfaces/srv/GetParameterTypes = string[] names; ---; uint8[] types
rcl_interfaces/srv/GetParameters = string[] names; ---; ParameterValue[] values
rcl_interfaces/srv/ListParameters = string[] prefixes; uint64 depth; ---; ListParametersResult result
rcl_interfaces/srv/SetParameters = Parameter[] parameters; ---; SetParametersResult[] results
rcl_interfaces/srv/SetParametersAtomically = Parameter[] parameters; ---; SetParametersResult result
rcl_interfaces/srv/GetLoggerLevels = string[] names; ---; LoggerLevel[] levels
rcl_interfaces/srv/SetLoggerLevels = LoggerLevel[] levels; ---; SetLoggerLevelsResult[] results
action_msgs/srv/CancelGoal = GoalInfo goal_info; ---; int8 return_code; GoalInfo[] goals_canceling
lifecycle_msgs/srv/ChangeState = Transition transition; ---; bool success
lifecycle_msgs/srv/GetAvailableStates = ---; State[] available_states
lifecycle_msgs/srv/GetAvailableTransitions = ---; TransitionDescription[] available_transitions
lifecycle_msgs/srv/GetState = ---; State current_state
composition_interfaces/srv/ListNodes = ---; string[] full_node_names; uint64[] unique_ids
composition_interfaces/srv/LoadNode = string package_name; string plugin_name; string node_name; string node_namespace; uint8 log_level; string[] remap_rules; rcl_interfaces/Parameter[] parameters; rcl_interfaces/Parameter[] extra_arguments; ---; bool success; string error_message; string full_node_name; uint64 unique_id
composition_interfaces/srv/UnloadNode = uint64 unique_id; ---; bool success; string error_message
type_description_interfaces/srv/GetTypeDescription = string type_name; string type_hash; bool include_type_sources true; ---; bool successful; string failure_reason; TypeDescription type_description; TypeSource[] type_sources; KeyValue[] extra_information
diagnostic_msgs/srv/AddDiagnostics = string load_namespace; ---; bool success; string message
diagnostic_msgs/srv/SelfTest = ---; string id; byte passed; DiagnosticStatus[] status
nav_msgs/srv/GetMap = ---; OccupancyGrid map
nav_msgs/srv/GetPlan = geometry_msgs/PoseStamped start; geometry_msgs/PoseStamped goal; float32 tolerance; ---; Path plan
nav_msgs/srv/LoadMap = string map_url; ---; OccupancyGrid map; uint8 result
nav_msgs/srv/SetMap = OccupancyGrid map; geometry_msgs/PoseWithCovarianceStamped initial_pose; ---; bool success
sensor_msgs/srv/SetCameraInfo = CameraInfo camera_info; ---; bool success; string status_message
tf2_msgs/srv/FrameGraph = ---; string frame_yaml
tf2_msgs/action/LookupTransform = string target_frame; string source_frame; builtin_interfaces/Time source_time; builtin_interfaces/Duration timeout; builtin_interfaces/Time target_time; string fixed_frame; bool advanced; ---; geometry_msgs/TransformStamped transform; tf2_msgs/TF2Error error; ---
turtlesim/msg/Color = uint8 r; uint8 g; uint8 b
turtlesim/msg/Pose = float32 x; float32 y; float32 theta; float32 linear_velocity; float32 angular_velocity
turtlesim/srv/Kill = string name; ---
turtlesim/srv/SetPen = uint8 r; uint8 g; uint8 b; uint8 width; uint8 off; ---
turtlesim/srv/Spawn = float32 x; float32 y; float32 theta; string name; ---; string name
turtlesim/srv/TeleportAbsolute = float32 x; float32 y; float32 theta; ---
turtlesim/srv/TeleportRelative = float32 linear; float32 angular; ---
turtlesim/action/RotateAbsolute = float32 theta; ---; float32 delta; ---; float32 remaining
"""  # noqa: E501


def common_definitions() -> dict[str, str]:
    """The definitions by type."""
    pairs = (line.split("=", 1) for line in _TEXTS.strip().splitlines())
    return {name.strip(): text.replace(";", "\n").strip() + "\n" for name, text in pairs}
