;; definitions
(message (message_name (identifier) @name)) @struct
(enum (enum_name (identifier) @name)) @enum
(service (service_name (identifier) @name)) @interface
(rpc (rpc_name (identifier) @name)) @function
;; references
(message_or_enum_type (identifier) @use)
;; imports
(import) @import
(package) @package
