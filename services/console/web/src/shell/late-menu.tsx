import { type ComponentType, type ReactNode, Suspense, useState } from 'react'
import { Button } from '../components/button'

/**
 * The button of a menu whose code is loaded when the menu is about to open, because most visits open none.
 *
 * @param load starts loading the code; it may be called again
 * @param Menu the button and its menu, which is open at first
 */
export function LateMenu({
  name,
  icon,
  load,
  Menu,
}: {
  name: string
  icon: ReactNode
  load: () => Promise<unknown>
  Menu: ComponentType<{ name: string; icon: ReactNode }>
}) {
  const [isWanted, setIsWanted] = useState(false)
  const preload = () => void load()
  const button = (
    <Button
      aria-label={name}
      aria-haspopup="menu"
      aria-expanded="false"
      onPointerEnter={preload}
      onFocus={preload}
      onClick={() => setIsWanted(true)}
    >
      {icon}
    </Button>
  )
  if (!isWanted) return button
  return (
    <Suspense fallback={button}>
      <Menu name={name} icon={icon} />
    </Suspense>
  )
}
