// Reads the wire format of protocol buffers. Pure; refuses every damaged message with a RangeError.

/** Reads fields of one message. */
export class Fields {
  constructor(bytes) {
    this.bytes = bytes;
    this.place = 0;
  }

  varint() {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.place >= this.bytes.length) throw new RangeError('the message ends early');
      const byte = this.bytes[this.place];
      this.place += 1;
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
    throw new RangeError('a number has more than ten bytes');
  }

  take(length) {
    if (length > this.bytes.length - this.place) throw new RangeError('the message ends early');
    const part = this.bytes.subarray(this.place, this.place + length);
    this.place += length;
    return part;
  }

  /** Yields `[number, value]`: numbers of varints, bytes of fixed and of delimited fields. */
  * [Symbol.iterator]() {
    while (this.place < this.bytes.length) {
      const key = this.varint();
      const number = Math.floor(key / 8);
      const type = key % 8;
      if (type === 0) yield [number, this.varint()];
      else if (type === 1) yield [number, this.take(8)];
      else if (type === 2) yield [number, this.take(this.varint())];
      else if (type === 5) yield [number, this.take(4)];
      else throw new RangeError(`a field has the type ${type}`);
    }
  }
}

/** The numbers of a repeated field, packed or one by one. */
export function numbers(value) {
  if (typeof value === 'number') return [value];
  const fields = new Fields(value);
  const found = [];
  while (fields.place < value.length) found.push(fields.varint());
  return found;
}

const utf8 = new TextDecoder();
export const text = (bytes) => utf8.decode(bytes);

/** The signed number of a zigzag number. */
export const zigzag = (value) => (value % 2 === 0 ? value / 2 : -(value + 1) / 2);
