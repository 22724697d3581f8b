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

/** Where the focus goes: what had it; when that is gone, what stood beside it in its list, else the region that it was in. */
function placeIn(steps: readonly Step[]): Element | null {
  const at = steps.findIndex(({ element }) => element.isConnected)
  const [gone, kept] = [steps[at - 1], steps[at]]
  if (!kept || !gone) return kept?.element ?? null
  return gone.beside?.isConnected ? gone.beside : kept.element.closest('main [aria-label]')
}

/** Gives the focus back, when what is drawn with this goes away, to what had it before. Nothing happens when something else has it. @param returns whether it can go away alone */
export function useFocusReturn(returns = true): void {
  const [steps] = useState(() => stepsTo(returns ? document.activeElement : null))
  useEffect(
    () => () => {
      if (document.activeElement !== document.body) return
      const place = placeIn(steps)
      if (!(place instanceof HTMLElement)) return
      if (place.tabIndex < 0) place.tabIndex = -1
      place.focus({ preventScroll: true })
    },
    [steps],
  )
}
