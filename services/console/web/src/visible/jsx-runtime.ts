import type { ElementType, Key, ReactElement } from 'react'
import * as react from 'react/jsx-runtime'
import { visibleControls } from '../lib/format'

export type { JSX } from 'react/jsx-runtime'
export { Fragment } from 'react/jsx-runtime'

type Props = Record<string, unknown>

/** Attributes with text for people. */
const readAttributes = ['title', 'aria-label', 'alt', 'placeholder', 'label']

/**
 * Makes the elements of every page. Most of them contain texts of users, so each displayed text passes
 * through `visibleControls` here, and no page can forget it. The value of a field stays unchanged.
 */
export const jsx = (type: ElementType, props: Props, key?: Key): ReactElement =>
  react.jsx(type, visible(type, props), key)

export const jsxs = (type: ElementType, props: Props, key?: Key): ReactElement =>
  react.jsxs(type, visible(type, props), key)

function visible(type: ElementType, props: Props): Props {
  if (typeof type === 'function' || (typeof type === 'object' && type !== null)) return props
  let shown = props
  const set = (name: string, value: unknown) => {
    if (value !== props[name]) shown = { ...shown, [name]: value }
  }
  set('children', visibleNode(props.children))
  if (typeof type === 'string') for (const name of readAttributes) set(name, visibleNode(props[name]))
  return shown
}

function visibleNode(node: unknown): unknown {
  if (typeof node === 'string') return visibleControls(node)
  if (!Array.isArray(node)) return node
  const nodes = node.map(visibleNode)
  return nodes.some((each, index) => each !== node[index]) ? nodes : node
}
