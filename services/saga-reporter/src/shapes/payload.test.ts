import { describe, expect, it } from 'vitest'
import { presentPayload } from './payload.js'

const url = 'http://localhost/payload'
const whole = (head: Buffer) =>
  presentPayload({ size: head.length, storedSize: head.length, sha256: 'f00d', head }, url)

describe('a displayed payload', () => {
  it('is null when no payload was reported', () => {
    expect(presentPayload(null, url)).toBeNull()
  })

  it('keeps the digits of long numbers in JSON', () => {
    const content = '{"id": 9007199254740993123}'
    expect(whole(Buffer.from(content))).toEqual({
      size: 27,
      stored_size: 27,
      sha256: 'f00d',
      url,
      encoding: 'json',
      content,
      truncated: false,
    })
  })

  it('is text when the bytes are UTF-8, and base64 otherwise', () => {
    expect(whole(Buffer.from('größer'))).toMatchObject({ encoding: 'text', content: 'größer' })
    expect(whole(Buffer.alloc(0))).toMatchObject({ encoding: 'text', content: '', size: 0 })
    expect(whole(Buffer.from([0xff, 0xfe]))).toMatchObject({ encoding: 'base64', content: '//4=' })
    expect(whole(Buffer.from([0x61, 0, 0x62]))).toMatchObject({ encoding: 'base64', content: 'YQBi' })
  })

  it('is marked when it is cut, and does not contain half a character', () => {
    const head = Buffer.from('1ö').subarray(0, 2)
    expect(presentPayload({ size: 900, storedSize: 500, sha256: 'f00d', head }, url)).toMatchObject({
      encoding: 'text',
      content: '1',
      truncated: true,
    })
  })
})
