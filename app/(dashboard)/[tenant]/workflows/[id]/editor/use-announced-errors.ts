'use client'
import { useEffect, useRef } from 'react'
import type { Problem } from '@/server/workflows/check/problem'

/** Announces the number of errors whenever it changes. */
export function useAnnouncedErrors(problems: readonly Problem[], announce: (text: string) => void): void {
  const announced = useRef('')
  const errors = problems.filter(({ severity }) => severity === 'error').length
  useEffect(() => {
    const text = errors === 0 ? 'No errors' : errors === 1 ? '1 error' : `${errors} errors`
    if (announced.current !== '' && announced.current !== text) announce(`${text}.`)
    announced.current = text
  }, [errors, announce])
}
