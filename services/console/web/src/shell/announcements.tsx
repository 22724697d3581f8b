import { createElement } from 'react'

/** Active broadcast messages, live. The element is the one that any site can embed; index.html loads it. */
export const Announcements = () => (
  <section aria-label="Announcements">
    {createElement('switchyard-banner', { 'close-label': 'Dismiss message' })}
  </section>
)
