import { type RefObject, useEffect, useRef } from 'react'

/** @returns the ref of a form whose first field gets the focus while `wanted` */
export function useFirstFocus(wanted: boolean): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (wanted) form.current?.querySelector<HTMLElement>('input, textarea, select')?.focus()
  }, [wanted])
  return form
}
