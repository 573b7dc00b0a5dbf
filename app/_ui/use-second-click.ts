'use client'
import { useEffect } from 'react'

const CLICKS = ['mousedown', 'click'] as const

/**
 * The second click of a double-click on a button that the first click removed has no effect. It would
 * hit what took the button's place, or take the focus from it.
 */
export function useSecondClick(): void {
  useEffect(() => {
    let pressed: Element | null = null
    const ignore = (event: MouseEvent) => {
      if (event.detail < 2) {
        if (event.target instanceof Element) pressed = event.target.closest('button, a')
      } else if (event.detail === 2 && pressed?.isConnected === false) {
        event.preventDefault()
        event.stopPropagation()
      }
    }
    for (const type of CLICKS) document.addEventListener(type, ignore, true)
    return () => {
      for (const type of CLICKS) document.removeEventListener(type, ignore, true)
    }
  }, [])
}
