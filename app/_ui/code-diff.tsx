'use client'
import { Skeleton } from '@mantine/core'
import dynamic from 'next/dynamic'
import type { CodeDiffProps } from './code-merge'
import { inPlace, loadPart } from './part'

/** The difference between two texts. Loaded when first shown. */
export const CodeDiff = dynamic<CodeDiffProps>(
  () => loadPart(() => import('./code-merge').then((module) => module.CodeMerge)),
  { ssr: false, loading: inPlace(<Skeleton height={160} radius="md" />) },
)
