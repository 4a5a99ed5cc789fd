#pragma once
#include <vector>

#include "machine/events.h"

namespace tilepath::machine {

/// Hands every event to several observers.
class Tee : public Observer {
  public:
    /// Whether it wants operations is asked here.
    void add(Observer& observer) {
        observers_.push_back(&observer);
        if (observer.wants_operations()) each_operation_.push_back(&observer);
    }

    void access(const Access& event) override { each(&Observer::access, event); }
    void copy_issued(const Copy& event) override { each(&Observer::copy_issued, event); }
    void copy_landed(const Copy& event) override { each(&Observer::copy_landed, event); }
    void bulk_issued(const BulkCopy& event) override { each(&Observer::bulk_issued, event); }
    void bulk_landed(const BulkCopy& event) override { each(&Observer::bulk_landed, event); }
    void barrier(const BarrierEvent& event) override { each(&Observer::barrier, event); }
    void fence(const Fence& event) override { each(&Observer::fence, event); }
    void multiply(const Multiply& event) override { each(&Observer::multiply, event); }
    void group(const GroupEvent& event) override { each(&Observer::group, event); }
    void wgmma(const WgmmaEvent& event) override { each(&Observer::wgmma, event); }
    void tensor_map(const TensorMapEvent& event) override { each(&Observer::tensor_map, event); }
    void converged(const EventSite& event) override { each(&Observer::converged, event); }
    void launch_begins(const program::Function& event) override { each(&Observer::launch_begins, event); }
    void cta_begins(const CtaEvent& event) override { each(&Observer::cta_begins, event); }
    void cta_ends(const CtaEvent& event) override { each(&Observer::cta_ends, event); }
    void tensor_issued(const TensorOperation& event) override { each(&Observer::tensor_issued, event); }
    void tensor_landed(const TensorOperation& event) override { each(&Observer::tensor_landed, event); }
    void tensor_allocation(const TensorAllocation& event) override { each(&Observer::tensor_allocation, event); }
    void operation(const EventSite& event) override {
        for (Observer* observer : each_operation_) observer->operation(event);
    }
    void executed(const Executed& event) override {
        for (Observer* observer : each_operation_) observer->executed(event);
    }
    bool wants_operations() const override { return !each_operation_.empty(); }

  private:
    template <class Event>
    void each(void (Observer::*what)(const Event&), const Event& event) {
        for (Observer* observer : observers_) (observer->*what)(event);
    }
    std::vector<Observer*> observers_, each_operation_;
};

}  // namespace tilepath::machine
