import { follow } from '@switchyard/banner/follow'
import { readableColor } from '@switchyard/banner/text'
import { useRouterState } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { addressOf } from '../api/client'
import { MessageText } from '../components/message-text'
import { useIsShown } from '../lib/use-event-stream'

type Message = Parameters<Parameters<typeof follow>[2]>[0][number]

const dismissedKey = 'switchyard-dismissed'
const dismissedMax = 50

function readDismissed(): string[] {
  try {
    return JSON.parse(localStorage.getItem(dismissedKey) ?? '[]') as string[]
  } catch {
    return []
  }
}

/** Returns the version of a message, so that an edited message is shown again. */
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

/** Reads the active messages, as on every site. A hidden page keeps no connection open. */
function useActiveMessages(): Message[] {
  const [messages, setMessages] = useState<Message[]>([])
  const isShown = useIsShown()
  const path = useRouterState({ select: () => location.pathname })
  useEffect(
    () => (isShown ? follow(addressOf('/broadcast_messages'), path, setMessages) : undefined),
    [isShown, path],
  )
  return messages
}
