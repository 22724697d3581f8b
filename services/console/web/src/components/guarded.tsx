import type { ComponentType } from 'react'
import { type Area, useMay } from '../api/session'
import { NotAllowed } from './states'

/** Wraps a page for sessions that may use its area. Other sessions see 'Not allowed', and send no request. */
export function guarded(area: Area, Content: ComponentType): () => React.JSX.Element {
  return function Guarded() {
    return useMay(area) ? <Content /> : <NotAllowed />
  }
}
