import { useEffect, useState } from 'react'
import type { HighlightReply, HighlightRequest } from './highlight.worker'

/** Longest text that is highlighted, because colours of longer texts would appear too late. */
const charactersMax = 2_000_000

let worker: Worker | undefined
let lastId = 0
const waiting = new Map<number, (lines: string[][] | null) => void>()

function highlight(language: string, texts: string[]): Promise<string[][] | null> {
  if (!worker) {
    worker = new Worker(new URL('./highlight.worker.ts', import.meta.url), { type: 'module' })
    worker.addEventListener('message', ({ data }: MessageEvent<HighlightReply>) => {
      waiting.get(data.id)?.(data.lines)
      waiting.delete(data.id)
    })
  }
  lastId += 1
  const request: HighlightRequest = { id: lastId, language, texts }
  worker.postMessage(request)
  return new Promise((resolve) => waiting.set(request.id, resolve))
}

/**
 * Highlights texts with highlight.js in a worker.
 *
 * @param texts the same array as long as the texts are the same
 * @returns the HTML lines of each text; undefined until they are ready, and for an unknown language
 */
export function useHighlight(path: string, texts: string[]): string[][] | undefined {
  const [result, setResult] = useState<{ texts: string[]; lines: string[][] | null }>()
  useEffect(() => {
    const length = texts.reduce((sum, text) => sum + text.length, 0)
    if (length === 0 || length > charactersMax) return
    let isCurrent = true
    void highlight(languageOf(path), texts).then((lines) => {
      if (isCurrent) setResult({ texts, lines })
    })
    return () => {
      isCurrent = false
    }
  }, [path, texts])
  return result?.texts === texts ? (result.lines ?? undefined) : undefined
}

const languageByEnd: Record<string, string> = {
  mts: 'typescript',
  cts: 'typescript',
  vue: 'xml',
  svelte: 'xml',
  proto: 'c',
  gradle: 'java',
  lock: 'yaml',
  env: 'ini',
  conf: 'ini',
  bashrc: 'bash',
  dockerfile: 'bash',
  gitconfig: 'ini',
  editorconfig: 'ini',
  gemfile: 'ruby',
  rakefile: 'ruby',
  cmake: 'makefile',
}

/** Returns the extension of the file name, which highlight.js knows for most languages. */
function languageOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  const end = name.slice(name.lastIndexOf('.') + 1)
  return languageByEnd[end] ?? end
}
