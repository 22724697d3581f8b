import { useEffect } from 'react'
import { moveInList } from '../components/data-table'

/** A dialog that a key opens. */
export type Overlay = 'palette' | 'help' | undefined

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))

function focusSearch(): boolean {
  const box = document.querySelector<HTMLInputElement>('main [data-search]')
  box?.focus()
  return box !== null
}

/** Handles the keys that work on every page, unless a field has the focus or a dialog is open. */
export function useShortcuts({
  onOpen,
  enabled,
}: {
  onOpen: (overlay: Overlay) => void
  enabled: boolean
}): void {
  useEffect(() => {
    if (!enabled) return
    const onKey = (event: KeyboardEvent) => {
      if (document.querySelector('dialog[open]')) return
      if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault()
        onOpen('palette')
        return
      }
      if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return
      if (handle(event.key, onOpen)) event.preventDefault()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [enabled, onOpen])
}

function handle(key: string, onOpen: (overlay: Overlay) => void): boolean {
  switch (key) {
    case '/':
      return focusSearch()
    case '?':
      onOpen('help')
      return true
    case 'j':
      return moveInList(1)
    case 'k':
      return moveInList(-1)
    default:
      return false
  }
}
