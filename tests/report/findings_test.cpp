// Findings as text, JSON, SARIF and a page; what users have decided to live with.
#include "report/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "check/rules.h"
#include "report/json_text.h"
#include "report/known_findings.h"
#include "report/sarif.h"
#include "report/timeline.h"

namespace tilepath::report {
namespace {

using nlohmann::json;
using testing::HasSubstr;

check::Finding finding(std::string check, unsigned ptx_line, unsigned source_line = 0) {
    check::Finding out;
    out.check = std::move(check);
    out.message = "a message";
    out.place.function = "kernel";
    out.place.ptx.file = "a kernel.ptx";
    out.place.ptx.line = ptx_line;
    out.place.operation = "ld.shared.u32 %r1, [%r2];";
    if (source_line != 0) out.place.source_file = "src/kernel.cu", out.place.source_line = source_line;
    out.facts = {"first this", "then <that>"};
    out.advice = "do it";
    out.times = 3;
    out.weight = 1;
    return out;
}

std::vector<CheckReport> one_run(std::vector<check::Finding> findings) { return {{"", std::move(findings), {}}}; }

std::filesystem::path written(const std::string& text) {
    const auto file = std::filesystem::temp_directory_path() / ("tilepath_findings_" + std::to_string(getpid()));
    std::ofstream(file) << text;
    return file;
}

// What SARIF 2.1.0's schema demands of the parts that are written here (OASIS, sections 3.13, 3.14, 3.18, 3.19, 3.27
// and 3.28): required properties, their types, enumerated values, and that indices lead where they say.
void expect_location(const json& location) {
    ASSERT_TRUE(location.is_object());
    if (location.contains("physicalLocation")) {
        const json& place = location["physicalLocation"];
        ASSERT_TRUE(place.at("artifactLocation").at("uri").is_string());
        EXPECT_EQ(place["artifactLocation"]["uri"].get<std::string>().find(' '), std::string::npos);
        if (place.contains("region")) {
            EXPECT_GE(place["region"].at("startLine").get<int>(), 1);
        }
    }
    for (const json& logical : location.value("logicalLocations", json::array())) {
        EXPECT_TRUE(logical.at("name").is_string());
    }
    if (location.contains("message")) {
        EXPECT_TRUE(location["message"].at("text").is_string());
    }
}

TEST(Notes, ComeLastAndAreNoFindings) {
    check::Finding note = finding("tensor-fence", 5), slow = finding("bank-conflicts", 9);
    note.severity = check::Severity::note, note.weight = 1e12;
    const auto both = check::grouped({note, slow});
    ASSERT_EQ(both.size(), 2u);
    EXPECT_EQ(both[0].check, "bank-conflicts");
    EXPECT_EQ(check::count_of(both, check::Severity::finding), 1u);
    EXPECT_THAT(findings_text(both), HasSubstr("note (tensor-fence): a message"));
    EXPECT_THAT(findings_text(both), HasSubstr("1 finding, 1 note: 1 bank-conflicts, 1 tensor-fence\n"));
    EXPECT_THAT(findings_text({note}), HasSubstr("no finding, 1 note\n"));
    EXPECT_EQ(findings_as_json(both)[1].at("severity"), "note");
    const json results = findings_as_sarif(one_run(both)).at("runs")[0].at("results");
    EXPECT_EQ(results[0].at("level"), "warning");
    EXPECT_EQ(results[1].at("level"), "note");
    EXPECT_THAT(findings_as_html(one_run({note})), HasSubstr("no finding, 1 note"));
}

TEST(Sarif, HoldsToTheSchema) {
    check::Finding race = finding("race", 12, 7);
    race.other = finding("race", 14).place;
    const json log = findings_as_sarif(one_run({race, finding("bank-conflicts", 30)}));
    EXPECT_EQ(log.at("version"), "2.1.0");
    EXPECT_TRUE(log.at("$schema").is_string());
    ASSERT_EQ(log.at("runs").size(), 1u);
    const json& run = log["runs"][0];
    const json& driver = run.at("tool").at("driver");
    EXPECT_EQ(driver.at("name"), "tilepath");
    const json& rules = driver.at("rules");
    ASSERT_EQ(rules.size(), check::rules().size());
    std::set<std::string> levels{"none", "note", "warning", "error"};
    for (const json& rule : rules) {
        EXPECT_TRUE(rule.at("id").is_string());
        EXPECT_TRUE(rule.at("shortDescription").at("text").is_string());
        EXPECT_TRUE(levels.contains(rule.at("defaultConfiguration").at("level")));
    }
    const json& results = run.at("results");
    ASSERT_EQ(results.size(), 2u);
    for (const json& result : results) {
        EXPECT_TRUE(result.at("message").at("text").is_string());
        EXPECT_TRUE(levels.contains(result.at("level")));
        EXPECT_EQ(rules.at(result.at("ruleIndex").get<std::size_t>()).at("id"), result.at("ruleId"));
        EXPECT_GE(result.at("occurrenceCount").get<int>(), 1);
        for (const json& location : result.at("locations")) expect_location(location);
        for (const json& location : result.value("relatedLocations", json::array())) expect_location(location);
        for (const auto& [name, print] : result.at("partialFingerprints").items())
            EXPECT_TRUE(print.is_string()) << name;
    }
    EXPECT_EQ(results[0]["level"], "error");
    EXPECT_EQ(results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "src/kernel.cu");
    EXPECT_EQ(results[0]["locations"][0]["physicalLocation"]["region"]["startLine"], 7);
    EXPECT_EQ(results[0]["relatedLocations"].size(), 2u) << "the instruction, and the other access";
    EXPECT_EQ(results[1]["level"], "warning");
    EXPECT_EQ(results[1]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "a%20kernel.ptx");
}

TEST(Sarif, SaysThatThereIsNothing) { EXPECT_EQ(findings_as_sarif(one_run({}))["runs"][0]["results"], json::array()); }

/// A compiler on a system without UTF-8 writes names of files as its system has them.
TEST(Json, IsUtf8WhateverBytesANameHas) {
    check::Finding odd = finding("race", 3, 5);
    odd.place.source_file = "gr\xF6sse.cu";
    EXPECT_THAT(json_text(findings_as_json({odd})), HasSubstr("gr\xEF\xBF\xBDsse.cu"));
    EXPECT_THAT(json_text(findings_as_sarif(one_run({odd}))), HasSubstr("gr%F6sse.cu"));
    EXPECT_EQ(json_text({{"a", 1}}), "{\n  \"a\": 1\n}");
    EXPECT_EQ(json_text({{"a", 1}}, -1), "{\"a\":1}");
}

TEST(Groups, CopiesOfASourceLineAreOneFinding) {
    const auto found = check::grouped({finding("race", 12, 7), finding("race", 20, 7), finding("race", 28, 8),
                                       finding("coalescing", 12, 7), finding("race", 40)});
    ASSERT_EQ(found.size(), 4u);
    const auto both = std::ranges::find_if(found, [](const check::Finding& each) { return !each.also.empty(); });
    ASSERT_NE(both, found.end());
    EXPECT_EQ(both->place.ptx.line, 12u);
    EXPECT_THAT(both->also, testing::ElementsAre(20u));
    EXPECT_EQ(both->times, 6u);
    EXPECT_THAT(check::to_string(*both), HasSubstr("copies of it: a kernel.ptx:20"));
}

TEST(Baselines, LeaveWhatIsNew) {
    const std::vector<check::Finding> before{finding("race", 12), finding("race", 14)};
    const auto file = written(json{{"findings", findings_as_json(before)}}.dump());
    const auto baseline = read_baseline(file);
    ASSERT_TRUE(baseline);
    // The same two, moved, and a third of their kind; and one of another check.
    std::vector<check::Finding> now{finding("race", 22), finding("race", 24), finding("race", 26),
                                    finding("coalescing", 5)};
    EXPECT_EQ(leave_new(now, *baseline), 2u);
    ASSERT_EQ(now.size(), 2u);
    EXPECT_EQ(now[0].place.ptx.line, 26u);
    EXPECT_EQ(now[1].check, "coalescing");
    EXPECT_FALSE(read_baseline(written("[1, 2]")));
    EXPECT_FALSE(read_baseline(written("no JSON")));
    EXPECT_FALSE(read_baseline("/nowhere/at/all"));
    std::filesystem::remove(file);
}

TEST(Baselines, NestedWithoutEndAreNone) {
    const std::size_t depth = 400'000;
    const auto file = written(std::string(depth, '[') + std::string(depth, ']'));
    EXPECT_FALSE(read_baseline(file));
    std::filesystem::remove(file);
}

TEST(Suppressions, CoverByPattern) {
    const auto file = written(
        "# what we live with\nrace kernel src/kernel.cu:7   # checked by hand\n\nbank-* * ld.shared*\nrace other *\n");
    auto list = read_suppressions(file);
    ASSERT_TRUE(list);
    ASSERT_EQ(list->size(), 3u);
    std::vector<check::Finding> found{finding("race", 12, 7), finding("race", 12, 8), finding("bank-conflicts", 5)};
    suppress(found, *list);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].place.source_line, 8u);
    EXPECT_EQ((*list)[0].times, 1u);
    EXPECT_EQ((*list)[1].times, 1u);
    EXPECT_EQ((*list)[2].times, 0u);
    const auto bad = read_suppressions(written("race kernel\n"));
    ASSERT_FALSE(bad);
    EXPECT_THAT(to_string(bad.error()), HasSubstr("CHECK FUNCTION PLACE"));
    const auto unknown = read_suppressions(written("racing kernel *\n"));
    ASSERT_FALSE(unknown);
    EXPECT_THAT(to_string(unknown.error()), HasSubstr("no check is called 'racing'"));
    std::filesystem::remove(file);
}

TEST(FindingsPage, StandsAlone) {
    check::Finding conflict = finding("bank-conflicts", 5);
    check::WarpAccess access;
    access.bytes = 4, access.lanes = ~0u;
    for (std::size_t lane = 0; lane < 32; ++lane) access.addresses[lane] = 1024 + 128 * lane;
    conflict.banks = access;
    const std::string page = findings_as_html(one_run({finding("race", 12, 7), conflict}));
    EXPECT_THAT(page, HasSubstr("2 findings"));
    EXPECT_THAT(page, HasSubstr("then &lt;that&gt;"));
    EXPECT_THAT(page, HasSubstr("phase 0, bank 0: 32 words"));
    EXPECT_THAT(page, testing::Not(HasSubstr("<script")));
    EXPECT_THAT(page, testing::Not(HasSubstr("src=\"http")));
    EXPECT_THAT(findings_as_html(one_run({})), HasSubstr("no finding"));
}

TEST(Timeline, IsATrace) {
    check::Timeline timeline;
    program::MicroOp op;
    program::Bulk load;
    load.destination = program::Space::shared, load.source = program::Space::global;
    machine::BulkCopy copy;
    copy.site = {nullptr, &op, 3, 1, 1};
    copy.bulk = &load;
    copy.id = 7, copy.bytes = 256, copy.destination = 1024;
    timeline.bulk_issued(copy);
    timeline.barrier({copy.site, machine::BarrierEvent::Kind::expect, true, 2048, 0, 256});
    timeline.bulk_landed(copy);
    timeline.barrier({copy.site, machine::BarrierEvent::Kind::complete, true, 2048, 0, 256});
    const auto spans = timeline.spans();
    ASSERT_EQ(spans.size(), 2u);
    EXPECT_EQ(spans[0].name, "bulk load");
    EXPECT_LT(spans[0].begin, spans[0].end);
    EXPECT_EQ(spans[1].track, "mbarrier 0x800");
    EXPECT_GT(spans[1].end, spans[0].end);
    const json trace = timeline_as_trace(std::vector<CheckReport>{{"", {}, spans}});
    int begins = 0, ends = 0;
    for (const json& event : trace.at("traceEvents")) {
        ASSERT_TRUE(event.at("ph").is_string());
        EXPECT_EQ(event.at("pid"), 0);
        begins += event["ph"] == "b", ends += event["ph"] == "e";
        if (event["ph"] != "M") {
            EXPECT_TRUE(event.at("ts").is_number());
        }
    }
    EXPECT_EQ(begins, 2);
    EXPECT_EQ(ends, 2);
    EXPECT_THAT(timeline_as_svg(spans), HasSubstr("CTA 3"));
}

}  // namespace
}  // namespace tilepath::report
