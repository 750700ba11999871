import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ServiceName } from './service.ts';

const ANSWER_MS = 1_000;

export interface ServiceAddress {
  host: string;
  port: number;
  tls: boolean;
}

/** Whether the service answers its own protocol: an open port says too little. Who it is, is not asked. */
export function isReady(name: ServiceName, { host, port, tls }: ServiceAddress): Promise<boolean> {
  const { question, judge } = probes[name];
  return new Promise((resolve) => {
    const socket = tls ? connectTls({ host, port, rejectUnauthorized: false }) : connect(port, host);
    let answer = Buffer.alloc(0);
    const end = (ready: boolean) => {
      socket.destroy();
      resolve(ready);
    };
    socket.setTimeout(ANSWER_MS, () => end(false));
    socket.on('error', () => end(false));
    socket.on('close', () => end(false));
    socket.on(tls ? 'secureConnect' : 'connect', () => socket.write(question));
    socket.on('data', (bytes: Buffer) => {
      answer = Buffer.concat([answer, bytes]);
      const ready = judge(answer);
      if (ready !== null) end(ready);
    });
  });
}

interface Probe {
  question: Uint8Array;
  /** `null`: more of the answer is needed. */
  judge: (answer: Buffer) => boolean | null;
}

const probes: Record<ServiceName, Probe> = {
  // One that wants a password first is up, too.
  redis: {
    question: Buffer.from('PING\r\n'),
    judge: (answer) => /^(\+PONG|-NOAUTH)/.test(answer.toString()),
  },
  // Metadata, version 1, of no topics: ready when it names a broker.
  kafka: {
    question: Buffer.from('0000000e0003000100000001ffff00000000', 'hex'),
    judge: (answer) => (answer.length < 12 ? null : answer.readInt32BE(8) > 0),
  },
  // OPTIONS of the native protocol, answered by SUPPORTED.
  cassandra: {
    question: Uint8Array.from([4, 0, 0, 0, 5, 0, 0, 0, 0]),
    judge: (answer) => (answer.length < 5 ? null : answer[4] === 6),
  },
  s3: {
    question: Buffer.from('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'),
    judge: (answer) => /^HTTP\/1\.[01] [234]/.test(answer.toString()),
  },
};
