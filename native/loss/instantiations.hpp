// SPDX-License-Identifier: BSD-3-Clause
// Which losses each kind of rows is compiled with.
#pragma once

#include "loss/log_loss.hpp"
#include "loss/values_loss.hpp"
#include "rows/kinds.hpp"

// Calls INSTANTIATE(Rows, Loss) for all that exist. The caller defines it.
#define CO2_TABLE_LOSSES(Rows) INSTANTIATE(Rows, LogLoss) INSTANTIATE(Rows, ValuesLoss)
#define CO2_WINDOW_LOSSES(Rows) INSTANTIATE(Rows, LogLoss)
#define CO2_ROWS_AND_LOSSES CO2_ROW_KINDS(CO2_TABLE_LOSSES, CO2_WINDOW_LOSSES)

// The same for tables alone, with what their targets are.
#define CO2_TABLE_TARGETS(Rows) INSTANTIATE(Rows, Labels) INSTANTIATE(Rows, Values)
#define CO2_TABLES_AND_TARGETS CO2_ROW_KINDS(CO2_TABLE_TARGETS, CO2_NO_ROWS)

namespace co2 {

static_assert(LossKind<LogLoss>);
static_assert(LossKind<ValuesLoss>);

}  // namespace co2
