// WebM: encoded pictures in the container of Matroska (RFC 9559, whose elements are those of EBML, RFC 8794).  Pure.

const LONGEST = 32000; // ms of a cluster, in which a block's time has 16 bits and a sign
const ID = {
  EBML: 0x1a45dfa3, EBMLVersion: 0x4286, EBMLReadVersion: 0x42f7, EBMLMaxIDLength: 0x42f2, EBMLMaxSizeLength: 0x42f3, DocType: 0x4282, DocTypeVersion: 0x4287, DocTypeReadVersion: 0x4285,
  Segment: 0x18538067, Info: 0x1549a966, TimestampScale: 0x2ad7b1, Duration: 0x4489, MuxingApp: 0x4d80, WritingApp: 0x5741,
  Tracks: 0x1654ae6b, TrackEntry: 0xae, TrackNumber: 0xd7, TrackUID: 0x73c5, TrackType: 0x83, FlagLacing: 0x9c, CodecID: 0x86, Video: 0xe0, PixelWidth: 0xb0, PixelHeight: 0xba,
  Cues: 0x1c53bb6b, CuePoint: 0xbb, CueTime: 0xb3, CueTrackPositions: 0xb7, CueTrack: 0xf7, CueClusterPosition: 0xf1,
  Cluster: 0x1f43b675, Timestamp: 0xe7, SimpleBlock: 0xa3,
};

/** @typedef {{ time: number, isKey: boolean, data: Uint8Array }} Encoded a picture; its time in whole milliseconds */

/**
 * A video of one track, the parts of its file.
 * @param {"V_VP8" | "V_VP9"} codec
 * @param {number} width
 * @param {number} height
 * @param {number} duration milliseconds
 * @param {Encoded[]} pictures by time; a key picture can be decoded without those before it, and the first is one
 * @returns {Uint8Array<ArrayBuffer>[]}
 */
export function webm(codec, width, height, duration, pictures) {
  const header = element(
    ID.EBML, uint(ID.EBMLVersion, 1), uint(ID.EBMLReadVersion, 1), uint(ID.EBMLMaxIDLength, 4), uint(ID.EBMLMaxSizeLength, 8),
    text(ID.DocType, "webm"), uint(ID.DocTypeVersion, 4), uint(ID.DocTypeReadVersion, 2),
  );
  const info = element(ID.Info, uint(ID.TimestampScale, 1e6), float(ID.Duration, duration), text(ID.MuxingApp, "Backstep"), text(ID.WritingApp, "Backstep"));
  const track = element(
    ID.TrackEntry, uint(ID.TrackNumber, 1), uint(ID.TrackUID, 1), uint(ID.TrackType, 1), uint(ID.FlagLacing, 0), text(ID.CodecID, codec),
    element(ID.Video, uint(ID.PixelWidth, width), uint(ID.PixelHeight, height)),
  );
  const tracks = element(ID.Tracks, track);
  const groups = stretches(pictures);
  const clusters = groups.map(cluster);
  const place = (begin) => cues(groups.map(([{ time }], i) => ({ time, position: begin + lengthOf(clusters.slice(0, i).flat()) })));
  const begin = lengthOf([...info, ...tracks, ...place(0)]); // which does not depend on the positions, all of one width
  return [...header, ...element(ID.Segment, info, tracks, place(begin), ...clusters)];
}

/** Pictures from one key picture to the next; a longer stretch is cut. @param {Encoded[]} pictures */
function stretches(pictures) {
  /** @type {Encoded[][]} */
  const groups = [];
  for (const picture of pictures) {
    const last = groups.at(-1);
    if (last && !picture.isKey && picture.time - last[0].time < LONGEST) last.push(picture);
    else groups.push([picture]);
  }
  return groups;
}

/** @param {Encoded[]} pictures */
function cluster(pictures) {
  const { time: begin } = pictures[0];
  const blocks = pictures.map(({ time, isKey, data }) => element(ID.SimpleBlock, [Uint8Array.of(0x81, ...bigEndian(time - begin, 2), isKey ? 0x80 : 0)], [data]));
  return element(ID.Cluster, uint(ID.Timestamp, begin), ...blocks);
}

/** Where a reader finds the pictures of a time, positions from the first byte in the segment. */
function cues(points) {
  const entries = points.map(({ time, position }) => element(ID.CuePoint, uint(ID.CueTime, time), element(ID.CueTrackPositions, uint(ID.CueTrack, 1), uint(ID.CueClusterPosition, position))));
  return element(ID.Cues, ...entries);
}

const lengthOf = (parts) => parts.reduce((sum, part) => sum + part.length, 0);
const bigEndian = (n, width) => Array.from({ length: width }, (_, i) => Math.floor(n / 256 ** (width - 1 - i)) % 256);

/** An element of other elements' parts: its ID, its length in 7 bytes behind the bit that says so, its content. */
function element(id, ...contents) {
  const parts = contents.flat();
  const width = Math.ceil((32 - Math.clz32(id)) / 8);
  return [Uint8Array.of(...bigEndian(id, width), 0x01, ...bigEndian(lengthOf(parts), 7)), ...parts];
}

const uint = (id, n) => element(id, [Uint8Array.from(bigEndian(n, 8))]);
const text = (id, words) => element(id, [new TextEncoder().encode(words)]);

function float(id, n) {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, n);
  return element(id, [bytes]);
}
