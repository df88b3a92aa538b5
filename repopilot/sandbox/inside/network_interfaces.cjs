// Loaded by every Node of a test run. The sandbox refuses the kind of socket that lists network interfaces, and code
// that looks for a free port wants that list: it is told of the only interface there is.
const os = require("node:os");
const { syncBuiltinESMExports } = require("node:module");

const listed = os.networkInterfaces;
const loopback = {
  address: "127.0.0.1",
  netmask: "255.0.0.0",
  family: "IPv4",
  mac: "00:00:00:00:00:00",
  internal: true,
  cidr: "127.0.0.1/8",
};

os.networkInterfaces = function networkInterfaces() {
  try {
    return listed();
  } catch {
    return { lo: [{ ...loopback }] };
  }
};
syncBuiltinESMExports();
