import type { ComponentType } from 'react'
import { type Area, useMay } from '../api/session'
import { NotAllowed } from './states'

/** A page for sessions that may use its area. The others see 'Not allowed', and the API is not asked. */
export function guarded(area: Area, Content: ComponentType): () => React.JSX.Element {
  return function Guarded() {
    return useMay(area) ? <Content /> : <NotAllowed />
  }
}
