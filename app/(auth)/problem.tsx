'use client'
import { CircleAlert } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { WhatToDo } from '@/app/_ui/error-code'
import type { FormProblem } from './api'
import styles from './words.module.css'

/** The form's error, announced to screen readers. */
export function Problem({ problem: { text, code } }: { problem: Omit<FormProblem, 'fields'> }) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (text !== null) box.current?.focus()
  }, [text])
  if (text === null) return null
  return (
    <div ref={box} role="alert" tabIndex={-1} className={styles.problem}>
      <CircleAlert size={16} aria-hidden />
      <span>
        {text} {code !== null && <WhatToDo code={code} />}
      </span>
    </div>
  )
}
