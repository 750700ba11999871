import { Server } from 'node:net';

/**
 * Preloaded into Portkey, which listens on every address of the machine and has no option against it: it knows no keys, and
 * whoever reaches it would reach what else listens on loopback. Plain JavaScript, so that it does not load Node's
 * compiler of types, of which a process is 40 MB larger.
 */
const { listen } = Server.prototype;
Server.prototype.listen = function listenOnLoopback(port, _host, listening) {
  return listen.call(this, port, '127.0.0.1', listening);
};
