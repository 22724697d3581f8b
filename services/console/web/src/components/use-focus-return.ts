import { useEffect, useState } from 'react'

/** An element around the one that had the focus. */
interface Step {
  element: Element
  /** The next of its kind in its list, else the one before. */
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
 * The element that had the focus; when that was removed, the one beside it in its list, else the labeled
 * region around it.
 */
function placeIn(steps: readonly Step[]): Element | null {
  const at = steps.findIndex(({ element }) => element.isConnected)
  const [gone, kept] = [steps[at - 1], steps[at]]
  if (!kept || !gone) return kept?.element ?? null
  return gone.beside?.isConnected ? gone.beside : kept.element.closest('main [aria-label]')
}

/**
 * When the component that calls this is removed, puts the focus where it was before the component appeared.
 * The focus stays where it is when it has moved elsewhere meanwhile.
 *
 * @param returns false: the component is removed only with everything around it, so no focus is put back
 */
export function useFocusReturn(returns = true): void {
  const [steps] = useState(() => stepsTo(returns ? document.activeElement : null))
  useEffect(
    () => () => {
      const place = placeIn(steps)
      // A click beside every control leaves the focus on an element around the place.
      if (!(place instanceof HTMLElement) || !document.activeElement?.contains(place)) return
      if (place.tabIndex < 0) place.tabIndex = -1
      place.focus({ preventScroll: true })
    },
    [steps],
  )
}
