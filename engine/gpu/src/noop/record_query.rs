//! Recording of queries and timestamps.

use super::barrier::stages2;
use super::command::Command;
use super::record::commands;
use ash::vk;

commands! { None;
    fn begin_query as PFN_vkCmdBeginQuery(
        pool: vk::QueryPool,
        query: u32,
        flags: vk::QueryControlFlags,
    ) {
        Command::BeginQuery { pool, query, flags }
    }
    fn end_query as PFN_vkCmdEndQuery(pool: vk::QueryPool, query: u32) {
        Command::EndQuery { pool, query }
    }
    fn reset_query_pool as PFN_vkCmdResetQueryPool(pool: vk::QueryPool, first: u32, count: u32) {
        Command::ResetQueryPool { pool, first, count }
    }
    fn write_timestamp as PFN_vkCmdWriteTimestamp(
        stage: vk::PipelineStageFlags,
        pool: vk::QueryPool,
        query: u32,
    ) {
        Command::WriteTimestamp {
            stage: stages2(stage),
            pool,
            query,
        }
    }
    fn write_timestamp2 as PFN_vkCmdWriteTimestamp2(
        stage: vk::PipelineStageFlags2,
        pool: vk::QueryPool,
        query: u32,
    ) {
        Command::WriteTimestamp { stage, pool, query }
    }
    fn copy_results as PFN_vkCmdCopyQueryPoolResults(
        pool: vk::QueryPool,
        first: u32,
        count: u32,
        buffer: vk::Buffer,
        offset: vk::DeviceSize,
        stride: vk::DeviceSize,
        flags: vk::QueryResultFlags,
    ) {
        Command::CopyQueryPoolResults {
            pool,
            first,
            count,
            buffer,
            offset,
            stride,
            flags,
        }
    }
}
