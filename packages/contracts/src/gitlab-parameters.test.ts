import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { openApiFile } from './openapi-file.js'

interface Item {
  call: string
  works: string[]
  refused: string[]
  ignored: string[]
}

/** Parameters of each call, by name, with whether each is refused. */
let declared: Map<string, Map<string, boolean>>
let items: Item[]
let reasons: Set<string>

const namesIn = (text = '') => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => String(name))

beforeAll(async () => {
  declared = declaredIn(JSON.parse(await readFile(openApiFile, 'utf8')))
  const text = await readFile(resolve(import.meta.dirname, '../../../docs/gitlab-parameters.md'), 'utf8')
  const [calls = '', why = ''] = text.replaceAll(/\n +(?=[^ -])/g, ' ').split('## Why some have no effect')
  items = [...calls.matchAll(/^- (`[A-Z]+ \S+`)(.*(?:\n +- .*)*)/gm)].map(([, call, parameters = '']) => {
    const [works, ...others] = parameters.split('\n')
    const namesAfter = (label: string) =>
      namesIn(others.find((line) => line.trim().startsWith(`- ${label}: `)))
    return {
      call: namesIn(call)[0] ?? '',
      works: namesIn(works),
      refused: namesAfter('refused'),
      ignored: namesAfter('no effect'),
    }
  })
  reasons = new Set([...why.matchAll(/^- (.+?): /gm)].flatMap(([, names]) => namesIn(names)))
})

type Property = { deprecated?: boolean }

interface Document {
  paths: Record<
    string,
    Record<
      string,
      {
        parameters?: { name: string; schema?: Property }[]
        requestBody?: { content: Record<string, { schema?: { $ref: string } }> }
      }
    >
  >
  components: { schemas: Record<string, { properties?: Record<string, Property> }> }
}

function declaredIn({ paths, components }: Document) {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => {
      const body = requestBody?.content['application/json']?.schema?.$ref.split('/').at(-1) ?? ''
      const all = [
        // Headers that several operations share are references.
        ...parameters.flatMap(({ name, schema }) => (schema ? [[name, schema] as const] : [])),
        ...Object.entries(components.schemas[body]?.properties ?? {}),
      ]
      const names = all.map(([name, { deprecated = false }]) => [name, deprecated] as const)
      return [`${method.toUpperCase()} ${path}`, new Map(names)] as const
    }),
  )
  return new Map(operations)
}

describe('each parameter of GitLab in docs/gitlab-parameters.md', () => {
  it('belongs to a call that exists', () => {
    expect(items.length).toBeGreaterThan(70)
    expect(items.flatMap(({ refused }) => refused).length).toBeGreaterThan(30)
    expect(items.flatMap(({ ignored }) => ignored).length).toBeGreaterThan(20)
    expect(items.filter(({ call }) => !declared.has(call))).toEqual([])
  })

  it('is declared where it works', () => {
    const wrong = items.flatMap(({ call, works }) =>
      works.filter((name) => declared.get(call)?.get(name) !== false).map((name) => `${call} ${name}`),
    )
    expect(wrong).toEqual([])
  })

  it('is declared as refused where it is refused', () => {
    const wrong = items.flatMap(({ call, refused }) =>
      refused.filter((name) => declared.get(call)?.get(name) !== true).map((name) => `${call} ${name}`),
    )
    expect(wrong).toEqual([])
  })

  it('is not declared where it is ignored for a reason', () => {
    const wrong = items.flatMap(({ call, ignored }) =>
      ignored
        .filter((name) => declared.get(call)?.has(name) || !reasons.has(name))
        .map((name) => `${call} ${name}`),
    )
    expect(wrong).toEqual([])
  })
})
