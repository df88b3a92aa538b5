;; definitions
(from_instruction as: (image_alias) @name) @declaration
(arg_instruction name: (unquoted_string) @name) @variable
(env_pair name: (unquoted_string) @name) @variable
;; references
(image_name) @use
(variable) @use
;; imports
