import { isUtf8 } from 'node:buffer'

/** Bytes as text: as UTF-8 where they are that, else as Latin-1, one character for each byte, so that nothing is lost. */
export const readableText = (bytes: Buffer): string => bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1')
