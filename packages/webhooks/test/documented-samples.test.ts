import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { afterAll, describe, expect, it } from 'vitest'
import { sign } from '../src/signature.js'

const root = resolve(import.meta.dirname, '../../..')
const page = readFileSync(join(root, 'docs/webhooks.md'), 'utf8')

/** Returns the code block of a language that checks a signature. */
function sample(language: string): string {
  const blocks = [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, code = '']) => code,
  )
  const [code, ...others] = blocks.filter((each) => each.includes('verify'))
  if (code === undefined || others.length > 0)
    throw new Error(`docs/webhooks.md has no one sample in ${language}`)
  return code
}

const secret = 'a-secret-of-the-receiver'
const body = '{"text":"ä"}'
const now = new Date()
const good = sign(secret, body, now)
const seconds = Math.floor(now.getTime() / 1000)
const later = (ms: number) => sign(secret, body, new Date(now.getTime() + ms))

/** Null: a request without the header. */
const headers: [signature: string | null, isGood: boolean][] = [
  [good, true],
  [good.replace(',', ' , '), true],
  [sign([secret, 'the-one-before'], body, now), true],
  [sign(['the-new-one', secret], body, now), true],
  [`v0=1,${good}`, true],
  [null, false],
  ['', false],
  [',', false],
  ['=', false],
  ['t', false],
  ['t=', false],
  ['v1', false],
  [`t=${seconds}`, false],
  [`t=${seconds},v1`, false],
  [`t=${seconds},v1=`, false],
  [`t=${seconds},v1=ééé`, false],
  [`t=${seconds},v1=\u00e9\u00ff`, false],
  [`t=${seconds},v1=${'0'.repeat(64)}`, false],
  [`t=${seconds},v1=${'zz'.repeat(32)}`, false],
  [`${good}0`, false],
  [good.slice(0, -1), false],
  [good.replace(String(seconds), `${seconds + 1}`), false],
  [good.replace(/^t=\d+/, 't=now'), false],
  [good.replace(/^t=\d+/, 't=١٢٣'), false],
  [good.replace(/^t=\d+/, 't=9'.padEnd(400, '9')), false],
  [good.replace(/^t=\d+/, 't=-1'), false],
  [good.replace(/^t=\d+,/, ''), false],
  [later(-301_000), false],
  [later(400_000), false],
  [sign('another', body, now), false],
]
const expected = headers.map(([, isGood]) => isGood)
const given = JSON.stringify(headers.map(([signature]) => signature))

const folder = mkdtempSync(join(tmpdir(), 'switchyard-samples-'))
afterAll(() => rmSync(folder, { recursive: true }))

/**
 * Runs a program with the headers as JSON in its input.
 *
 * @returns its answers, printed as JSON
 */
async function answersOf(command: string, args: string[]): Promise<boolean[]> {
  const { stdout } = await execa(command, args, { input: given, cwd: root, timeout: 300_000 })
  return JSON.parse(stdout)
}

describe('the sample accepts a signed request, and refuses any other header', () => {
  it('in TypeScript', async () => {
    const [imports = '', call = ''] = sample('ts').split('\n\n')
    const file = join(import.meta.dirname, `sample-${process.pid}.ts`)
    writeFileSync(
      file,
      // The client that an instance serves has this module under another name.
      `${imports.replace('@switchyard/webhook-signature', '@switchyard/webhooks/signature')}
import { text } from 'node:stream/consumers'
const [secret, rawBody] = ${JSON.stringify([secret, body])}
const answers = JSON.parse(await text(process.stdin)).map((signature) => {
  const request = { headers: signature === null ? {} : { 'x-switchyard-signature': signature } }
  ${call}
  return good
})
console.log(JSON.stringify(answers))`,
    )
    try {
      const answers = await answersOf(process.execPath, ['--import', 'tsx', file])
      expect(answers).toEqual(expected)
    } finally {
      rmSync(file)
    }
  })

  it('in Python', async () => {
    const program = `${sample('python')}
import json, sys
body = ${JSON.stringify(body)}.encode()
print(json.dumps([verify(${JSON.stringify(secret)}, signature, body) for signature in json.load(sys.stdin)]))
assert verify(${JSON.stringify(secret)}, "t=${seconds},v1=\\udce9", body) is False
`
    expect(await answersOf('python3', ['-c', program])).toEqual(expected)
  })

  const go: string[] = JSON.parse(process.env.SWITCHYARD_TEST_GITLAB_GO || '[]')
  it.skipIf(go.length === 0)('in Go', async () => {
    const [, imports = '', code = ''] = /^import \((.*?)^\)(.*)$/ms.exec(sample('go')) ?? []
    const file = join(folder, 'sample.go')
    writeFileSync(
      file,
      `package main
import (
	"encoding/json"
	"os"
${imports})
${code}
func main() {
	var signatures []*string
	if err := json.NewDecoder(os.Stdin).Decode(&signatures); err != nil { panic(err) }
	answers := []bool{}
	for _, signature := range signatures {
		text := ""
		if signature != nil { text = *signature }
		answers = append(answers, verify(${JSON.stringify(secret)}, text, []byte(${JSON.stringify(body)})))
	}
	json.NewEncoder(os.Stdout).Encode(answers)
}
`,
    )
    const [program = '', ...args] = go
    expect(await answersOf(program, [...args, file])).toEqual(expected)
  })
})
