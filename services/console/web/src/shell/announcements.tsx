import { readableColor } from '@switchyard/banner/text'
import { useEffect, useState } from 'react'
import { addressOf } from '../api/client'
import { MessageText } from '../components/message-text'
import { useIsShown } from '../lib/use-event-stream'

interface Message {
  id: number
  message: string
  color: string
  font: string
  dismissable: boolean
  updated_at: string
}

const dismissedKey = 'switchyard-dismissed'
const dismissedMax = 50

function readDismissed(): string[] {
  try {
    return JSON.parse(localStorage.getItem(dismissedKey) ?? '[]') as string[]
  } catch {
    return []
  }
}

/** A message that was edited is shown again. */
const versionOf = ({ id, updated_at }: Message) => `${id} ${updated_at}`

/** The active broadcast messages, live. */
export function Announcements() {
  const messages = useActiveMessages()
  const [dismissed, setDismissed] = useState(readDismissed)
  const dismiss = (message: Message) => {
    const kept = [...dismissed, versionOf(message)].slice(-dismissedMax)
    localStorage.setItem(dismissedKey, JSON.stringify(kept))
    setDismissed(kept)
  }
  const shown = messages.filter((message) => !message.dismissable || !dismissed.includes(versionOf(message)))
  return (
    <section aria-label="Announcements" aria-live="polite">
      {shown.map((message) => (
        <div
          key={message.id}
          className="flex items-start gap-3 px-4 py-1.5 text-sm"
          style={{ background: message.color, color: readableColor(message.color, message.font) }}
        >
          <span className="flex-1 text-center">
            <MessageText text={message.message} />
          </span>
          {message.dismissable && (
            <button
              type="button"
              aria-label="Dismiss message"
              className="min-w-6"
              onClick={() => dismiss(message)}
            >
              ✕
            </button>
          )}
        </div>
      ))}
    </section>
  )
}

/** The stream sends all messages at first, then each change. A hidden page keeps no connection open. */
function useActiveMessages(): Message[] {
  const [messages, setMessages] = useState<Message[]>([])
  const isShown = useIsShown()
  useEffect(() => {
    if (!isShown) return
    const source = new EventSource(addressOf('/broadcast_messages/stream', { path: location.pathname }))
    const on = <Data,>(name: string, change: (data: Data, before: Message[]) => Message[]) =>
      source.addEventListener(name, ({ data }) => {
        setMessages((before) => change(JSON.parse(String(data)) as Data, before))
      })
    on<{ messages: Message[] }>('snapshot', ({ messages }) => messages)
    on<Message>('start', (message, before) => [message, ...before.filter(({ id }) => id !== message.id)])
    on<Message>('change', (message, before) => before.map((old) => (old.id === message.id ? message : old)))
    on<{ id: number }>('end', ({ id }, before) => before.filter((old) => old.id !== id))
    return () => source.close()
  }, [isShown])
  return messages
}
