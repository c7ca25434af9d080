import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import {
  type Answer,
  addressData,
  mailExchangeData,
  nameData,
  type Question,
  type RecordType,
  readQuestion,
  textData,
  typeNumbers,
  writeAnswer,
} from './dns-packet.ts';

/** What one name answers. An empty zone is a name that exists without records. */
export interface Zone {
  A?: string[];
  AAAA?: string[];
  /** A null MX (RFC 7505) is `{ priority: 0, exchange: '' }`. */
  MX?: { priority: number; exchange: string }[];
  NS?: string[];
  TXT?: string[];
  CNAME?: string;
  /** `SERVFAIL`: every question about the name fails. `SILENT`: it is never answered, so that the client times out. */
  trouble?: 'SERVFAIL' | 'SILENT';
}

/** A name server of a test's own, on a free loopback port. */
export interface DnsServer extends AsyncDisposable {
  /** `127.0.0.1:port`, as `DNS_SERVERS` and Node's `setServers` take it. */
  address: string;
  /** May be changed at any time; the next question sees it. */
  zones: Record<string, Zone>;
  /** What was asked so far, as `MX gmail.com`, in order. */
  questions: string[];
}

const noError = 0;
const serverFailure = 2;
const noSuchName = 3;
const typeNames = new Map<number, RecordType>(
  Object.entries(typeNumbers).map(([name, number]) => [number, name as RecordType]),
);

/** Starts a name server over UDP that knows the given zones by lower-case name and denies every other name. */
export async function startDnsServer(zones: Record<string, Zone> = {}): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const questions: string[] = [];
  const server: DnsServer = {
    address: '',
    zones: { ...zones },
    questions,
    [Symbol.asyncDispose]: () => new Promise((closed) => socket.close(() => closed())),
  };
  socket.on('message', (packet, { port, address }) => {
    const question = readQuestion(packet);
    questions.push(`${typeNames.get(question.type) ?? question.type} ${question.name}`);
    const reply = answer(question, server.zones);
    if (reply) socket.send(reply, port, address);
  });
  server.address = await listen(socket);
  return server;
}

async function listen(socket: Socket): Promise<string> {
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return `127.0.0.1:${socket.address().port}`;
}

function answer(question: Question, zones: Record<string, Zone>): Buffer | undefined {
  const zone = zones[question.name];
  if (zone?.trouble === 'SILENT') return undefined;
  if (zone?.trouble === 'SERVFAIL') return writeAnswer(question, serverFailure, []);
  const exists = zone !== undefined || Object.keys(zones).some((name) => name.endsWith(`.${question.name}`));
  const type = typeNames.get(question.type);
  return writeAnswer(question, exists ? noError : noSuchName, type ? records(question.name, type, zones) : []);
}

function records(name: string, type: RecordType, zones: Record<string, Zone>): Answer[] {
  const zone = zones[name] ?? {};
  const alias = zone.CNAME === undefined ? [] : [{ name, type: 'CNAME' as const, data: nameData(zone.CNAME) }];
  if (type === 'CNAME') return alias;
  if (zone.CNAME !== undefined) return [...alias, ...records(zone.CNAME.toLowerCase(), type, zones)];
  return dataOf(zone, type).map((data) => ({ name, type, data }));
}

function dataOf(zone: Zone, type: Exclude<RecordType, 'CNAME'>): Buffer[] {
  switch (type) {
    case 'A':
    case 'AAAA':
      return (zone[type] ?? []).map(addressData);
    case 'NS':
      return (zone.NS ?? []).map(nameData);
    case 'MX':
      return (zone.MX ?? []).map(({ priority, exchange }) => mailExchangeData(priority, exchange));
    case 'TXT':
      return (zone.TXT ?? []).map(textData);
  }
}
