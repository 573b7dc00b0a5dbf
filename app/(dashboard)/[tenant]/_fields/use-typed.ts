'use client'
import { useState } from 'react'

export interface LimitProps {
  /** The field's name, for labels. */
  called: string
  size: 'xs' | 'sm'
  readOnly: boolean
}

/** A text as typed while it means the stored value, such as `1.` on the way to `1.5`. */
export function useTyped(stored: string, meaning: (text: string) => string) {
  const [text, setText] = useState(stored)
  return [meaning(text) === stored ? text : stored, setText] as const
}
