/** A library call that tells which connection it came by; the field is not part of its types. */
interface ConnectedCall {
  stream?: { session?: object }
}

/** The HTTP/2 session of a call; undefined where it cannot be told. */
export const sessionOf = (call: object): object | undefined => (call as ConnectedCall).stream?.session
