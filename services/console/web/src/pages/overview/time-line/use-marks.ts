import { type RefObject, useEffect, useEffectEvent, useState } from 'react'
import { type Mark, markAfter } from './time-line-model'

/** The attributes that make a link one of the picture's marks. */
export type MarkOf = (key: string) => { 'data-mark': string; tabIndex: number; onFocus: () => void }

/** Makes all marks of a picture one Tab stop: arrow keys, Home and End move between them. */
export function useMarks(ref: RefObject<HTMLElement | null>, marks: readonly Mark[]): MarkOf {
  const [chosen, setChosen] = useState<string>()
  const current = marks.find(({ key }) => key === chosen) ?? marks[0]
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const isMark = event.target instanceof Element && event.target.closest('[data-mark]') !== null
    const next = isMark && current ? markAfter(marks, current, event.key) : undefined
    if (!next) return
    event.preventDefault()
    ref.current?.querySelector<HTMLElement>(`[data-mark="${CSS.escape(next.key)}"]`)?.focus()
  })
  useEffect(() => {
    const element = ref.current
    element?.addEventListener('keydown', onKey)
    return () => element?.removeEventListener('keydown', onKey)
  }, [ref])
  return (key) => ({
    'data-mark': key,
    tabIndex: key === current?.key ? 0 : -1,
    onFocus: () => setChosen(key),
  })
}
