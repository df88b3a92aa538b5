"""Controls of a pass: runs with wrong expectations or faulty code, in which honest tests fail. Pure."""
