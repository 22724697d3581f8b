import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ConnectionError, errorCodes } from './error-codes.js'
import { HpackDecoder } from './hpack-decoder.js'

const hex = (digits: string) => Buffer.from(digits.replace(/\s/g, ''), 'hex')

/** The fields of each block of a connection. */
const pairsOf = (...blocks: string[]) => {
  const decoder = new HpackDecoder(4096)
  return blocks.map((block) => decoder.decode(hex(block))?.map(({ name, value }) => [name, value]))
}

const compressionError = expect.objectContaining({
  name: 'ConnectionError',
  code: errorCodes.compressionError,
})

const resizeTo256 = '3f e1 01'
/** A field that is kept: custom-key: custom-header. */
const customField = '400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572'

const getExample = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':path', '/'],
  [':authority', 'www.example.com'],
]
const requests = [
  getExample,
  [...getExample, ['cache-control', 'no-cache']],
  [
    [':method', 'GET'],
    [':scheme', 'https'],
    [':path', '/index.html'],
    [':authority', 'www.example.com'],
    ['custom-key', 'custom-value'],
  ],
]

const redirect = (status: string) => [
  [':status', status],
  ['cache-control', 'private'],
  ['date', 'Mon, 21 Oct 2013 20:13:21 GMT'],
  ['location', 'https://www.example.com'],
]
const answers = [
  redirect('302'),
  redirect('307'),
  [
    [':status', '200'],
    ['cache-control', 'private'],
    ['date', 'Mon, 21 Oct 2013 20:13:22 GMT'],
    ['location', 'https://www.example.com'],
    ['content-encoding', 'gzip'],
    ['set-cookie', 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'],
  ],
]

describe('the examples of RFC 7541, appendix C, mean what it says', () => {
  it.each([
    ['C.2.1', customField, ['custom-key', 'custom-header']],
    ['C.2.2', '040c 2f73 616d 706c 652f 7061 7468', [':path', '/sample/path']],
    ['C.2.3', '1008 7061 7373 776f 7264 0673 6563 7265 74', ['password', 'secret']],
    ['C.2.4', '82', [':method', 'GET']],
  ])('%s, one field', (_section, block, field) => {
    expect(pairsOf(block)).toEqual([[field]])
  })

  it('C.3, requests without Huffman coding', () => {
    const blocks = [
      '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
      '8286 84be 5808 6e6f 2d63 6163 6865',
      '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
    ]
    expect(pairsOf(...blocks)).toEqual(requests)
  })

  it('C.4, requests with Huffman coding', () => {
    const blocks = [
      '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
      '8286 84be 5886 a8eb 1064 9cbf',
      '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
    ]
    expect(pairsOf(...blocks)).toEqual(requests)
  })

  it('C.5, answers that evict from a table of 256 bytes, without Huffman coding', () => {
    const blocks = [
      `${resizeTo256} 4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133
        3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d`,
      '4803 3330 37c1 c0bf',
      `88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f
        6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b
        2076 6572 7369 6f6e 3d31`,
    ]
    expect(pairsOf(...blocks)).toEqual(answers)
  })

  it('C.6, answers that evict from a table of 256 bytes, with Huffman coding', () => {
    const blocks = [
      `${resizeTo256} 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d
        29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3`,
      '4883 640e ffc1 c0bf',
      `88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335
        dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07`,
    ]
    expect(pairsOf(...blocks)).toEqual(answers)
  })
})

describe('a block that says nothing is a compression error', () => {
  it.each([
    ['index 0', '80'],
    ['an index beyond an empty table', 'be'],
    ['an index beyond what is kept', `${customField} bf`],
    ['a large index beyond the table', 'ff 80 01'],
    ['the largest index that is read', 'ff ff ff ff ff 7f'],
    ['the name of a field that is not there', '7e 01 61'],
    ['a number without its second byte', 'ff'],
    ['a number without its last byte', 'ff 80'],
    ['a number of many bytes', 'ff ff ff ff ff ff ff ff ff ff 7f'],
    ['a small number in many bytes', '3f 80 80 80 80 80 80 80 80 80 00'],
    ['a literal without a name', '40'],
    ['a name that is cut off', '40 03 61 62'],
    ['a literal without a value', '40 01 61'],
    ['a value that is cut off', '00 01 61 02 62'],
    ['a value longer than any block', '00 01 61 7f ff ff ff ff 7f'],
    ['a change of the table without its size', '3f'],
    ['a table of 4097 bytes', '3f e2 1f'],
    ['a change of the table after a field', '82 20'],
    ['a change of the table at the end of a block', `${customField} 3f e1 1f`],
  ])('%s', (_case, block) => {
    expect(() => pairsOf(block)).toThrow(compressionError)
  })

  it.each([
    ['the end of a string', '84 ff ff ff ff'],
    ['the end of a string after an octet', '85 1f ff ff ff ff'],
    ['nothing but 8 bits of padding', '81 ff'],
    ['11 bits of padding', '82 1f ff'],
    ['padding of zeros', '81 18'],
    ['padding that ends in a zero', '81 1e'],
    ['padding that begins with a zero', '81 1b'],
  ])('a Huffman code with %s', (_case, value) => {
    expect(() => pairsOf(`00 01 61 ${value}`)).toThrow(compressionError)
    expect(() => pairsOf(`00 ${value} 01 61`)).toThrow(compressionError)
  })

  it('after any blocks, whatever their bytes, and is never another failure', () => {
    const bytes = fc.uint8Array({ maxLength: 20 }).map((part) => Buffer.from(part))
    const block = fc
      .array(fc.oneof(bytes, fc.constantFrom('82', customField, 'be', '7e 01 61', '20').map(hex)))
      .map((parts) => Buffer.concat(parts))
    fc.assert(
      fc.property(fc.array(block), (blocks) => {
        const decoder = new HpackDecoder(500)
        for (const each of blocks)
          try {
            decoder.decode(each)
          } catch (error) {
            expect(error).toBeInstanceOf(ConnectionError)
            expect(error).toEqual(compressionError)
            return
          }
      }),
      { numRuns: 500 },
    )
  })
})

it.each([
  ['no padding', '81 f8', '&'],
  ['7 bits of padding', '83 1c 71 ff', 'abb'],
  ['no octets', '80', ''],
])('a Huffman code with %s is read', (_case, value, text) => {
  expect(pairsOf(`00 01 61 ${value}`)).toEqual([[['a', text]]])
})
