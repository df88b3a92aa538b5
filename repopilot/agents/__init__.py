"""The agents: functions of (question, workspace, step) that return an Answer."""
