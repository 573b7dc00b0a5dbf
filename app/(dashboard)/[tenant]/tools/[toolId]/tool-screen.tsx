'use client'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { ScreenProblem } from '../../_versioned/screen-problem'
import { ScreenSkeleton } from '../../_versioned/screen-skeleton'
import { BuiltinTool } from './builtin-tool'
import { ToolEditor } from './tool-editor'

export function ToolScreen({ toolId }: { toolId: string }) {
  const trpc = useTRPC()
  const tool = useQuery({ ...trpc.tools.open.queryOptions({ id: toolId }), refetchInterval: 20_000 })
  if (tool.data) return tool.data.draft === null ? <BuiltinTool tool={tool.data} /> : <ToolEditor tool={tool.data} />
  if (tool.error) return <ScreenProblem noun="tool" error={tool.error} onRetry={() => tool.refetch()} />
  return <ScreenSkeleton title="Tool" />
}
