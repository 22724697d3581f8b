/** A message as `/broadcast_messages/active` and the stream give it. */
export interface Message {
  id: number
  /** Markdown. */
  message: string
  color: string
  font: string
  broadcast_type: string
  dismissable: boolean
  theme: string
  updated_at: string
}
