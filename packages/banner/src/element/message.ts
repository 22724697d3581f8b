/** A message of `/broadcast_messages/active` and of the stream. */
export interface Message {
  id: number
  /** Markdown. */
  message: string
  color: string
  font: string
  broadcast_type: string
  dismissable: boolean
  theme: string
  /** Last instant, by the server's clock. */
  ends_at: string
  updated_at: string
}
