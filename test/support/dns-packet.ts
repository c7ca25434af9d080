import { isIP } from 'node:net';

/** The record types the test server answers, with their numbers of RFC 1035 and RFC 3596. */
export const typeNumbers = { A: 1, NS: 2, CNAME: 5, MX: 15, TXT: 16, AAAA: 28 } as const;
export type RecordType = keyof typeof typeNumbers;

/** What a name server is asked: the first question of a packet. */
export interface Question {
  id: number;
  name: string;
  /** The type's number, for clients also ask for types that this server does not know. */
  type: number;
  recursionDesired: boolean;
  /** The question as it stood on the wire, to be repeated in the answer. */
  wire: Buffer;
}

/** One record of an answer, its data already in wire format. */
export interface Answer {
  name: string;
  type: RecordType;
  data: Buffer;
}

const headerLength = 12;
const classInternet = 1;
/** Nothing is remembered by a client, so that a test may change its zones at any time. */
const timeToLive = 0;

/** Reads the first question of a query packet. Throws on a packet that is cut short. */
export function readQuestion(packet: Buffer): Question {
  const labels: string[] = [];
  let offset = headerLength;
  for (let length = packet.readUInt8(offset); length > 0; length = packet.readUInt8(offset)) {
    labels.push(packet.toString('latin1', offset + 1, offset + 1 + length));
    offset += 1 + length;
  }
  return {
    id: packet.readUInt16BE(0),
    name: labels.join('.').toLowerCase(),
    type: packet.readUInt16BE(offset + 1),
    recursionDesired: (packet.readUInt16BE(2) & 0x0100) !== 0,
    wire: packet.subarray(headerLength, offset + 5),
  };
}

/** Writes the answer to a question. `code` is the RCODE of RFC 1035: 0 fine, 2 server failure, 3 no such name. */
export function writeAnswer(question: Question, code: number, answers: readonly Answer[]): Buffer {
  const header = Buffer.alloc(headerLength);
  header.writeUInt16BE(question.id, 0);
  // A response that is authoritative, with recursion available.
  header.writeUInt16BE(0x8480 | (question.recursionDesired ? 0x0100 : 0) | code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(answers.length, 6);
  return Buffer.concat([header, question.wire, ...answers.map(writeRecord)]);
}

/** A domain name in wire format; the empty name and `.` are the root. */
export function nameData(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '');
  return Buffer.concat([...labels.map(characterString), Buffer.of(0)]);
}

/** An IPv4 or IPv6 address in wire format. */
export function addressData(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  if (isIP(address) !== 6) throw new Error(`${address} is no IP address`);
  const [head = '', tail] = address.split('::');
  const front = head.split(':').filter((group) => group !== '');
  const back = (tail ?? '').split(':').filter((group) => group !== '');
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => '0');
  return Buffer.concat([...front, ...zeros, ...back].map((group) => uint16(Number.parseInt(group, 16))));
}

/** The data of an MX record. */
export function mailExchangeData(priority: number, exchange: string): Buffer {
  return Buffer.concat([uint16(priority), nameData(exchange)]);
}

/** The data of a TXT record: as many strings of at most 255 bytes as the text needs. */
export function textData(text: string): Buffer {
  const chunks = text.match(/.{1,255}/gs) ?? [''];
  return Buffer.concat(chunks.map(characterString));
}

function writeRecord({ name, type, data }: Answer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(typeNumbers[type], 0);
  fixed.writeUInt16BE(classInternet, 2);
  fixed.writeUInt32BE(timeToLive, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([nameData(name), fixed, data]);
}

function characterString(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
