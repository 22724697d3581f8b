import { useEffect, useState } from 'react'

/** An ancestor of the element that had the focus. */
interface Step {
  element: Element
  /** The next element of its kind in its list, otherwise the previous one. */
  beside: Element | undefined
}

function stepsTo(focused: Element | null): Step[] {
  const steps: Step[] = []
  for (let element = focused; element && element !== document.body; element = element.parentElement) {
    const { tagName, nextElementSibling: next, previousElementSibling: previous } = element
    steps.push({ element, beside: [next, previous].find((other) => other?.tagName === tagName) ?? undefined })
  }
  return steps
}

/**
 * Returns the element that had the focus; when it was removed, its neighbour in the list, otherwise the
 * labelled region around it.
 */
function placeIn(steps: readonly Step[]): Element | null {
  const at = steps.findIndex(({ element }) => element.isConnected)
  const [gone, kept] = [steps[at - 1], steps[at]]
  if (!kept || !gone) return kept?.element ?? null
  return gone.beside?.isConnected ? gone.beside : kept.element.closest('main [aria-label]')
}

/**
 * Restores the former focus when the component that calls this is removed. The focus stays where it is when
 * it has moved elsewhere meanwhile.
 *
 * @param returns false: the component is removed only together with its surroundings, so the focus is not
 *   restored
 */
export function useFocusReturn(returns = true): void {
  const [steps] = useState(() => stepsTo(returns ? document.activeElement : null))
  useEffect(
    () => () => {
      const place = placeIn(steps)
      // A click beside every control leaves the focus on an ancestor.
      if (!(place instanceof HTMLElement) || !document.activeElement?.contains(place)) return
      if (place.tabIndex < 0) place.tabIndex = -1
      place.focus({ preventScroll: true })
    },
    [steps],
  )
}
