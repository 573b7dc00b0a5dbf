'use client'
import { Skeleton } from '@mantine/core'
import dynamic from 'next/dynamic'
import type { CodeDiffProps } from './code-merge'

/** What changed between two texts, loaded when it is first shown. */
export const CodeDiff = dynamic<CodeDiffProps>(() => import('./code-merge').then((module) => module.CodeMerge), {
  ssr: false,
  loading: () => <Skeleton height={160} radius="md" />,
})
